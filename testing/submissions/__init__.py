"""Right and wrong submissions to every homework."""
