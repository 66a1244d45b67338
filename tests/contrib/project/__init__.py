"""A Django project for tests of ``catchment.contrib.django``; ``cases`` are run by Django's own test runner."""
