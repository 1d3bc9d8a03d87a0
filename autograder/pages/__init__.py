"""Pages and numbers for people: feedback, the report, what makes a student's text safe to show."""
