"""What this machine allows, and how to install what is missing."""
