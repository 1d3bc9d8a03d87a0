"""The examination: a submission goes in, a record of verdicts comes out. No student code runs in this process."""
