"""What students get: releases and their repository, and what must not be in it."""
