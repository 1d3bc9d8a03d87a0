"""What runs inside the sandbox, beside a student's code. Nothing here decides anything, and nothing here is secret."""
