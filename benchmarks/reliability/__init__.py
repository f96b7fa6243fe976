"""Attacks on a server: hostile models, random messages, long sessions, killed processes (docs/reliability.md)."""
