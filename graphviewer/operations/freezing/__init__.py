"""Freezing: variables become constants, and everything that handled them follows."""
