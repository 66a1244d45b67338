from django.db import models


class Order(models.Model):
    email = models.EmailField()
    title = models.CharField(max_length=200)
    cents = models.PositiveIntegerField()
    placed_at = models.DateTimeField(auto_now_add=True)
    receipt_sent_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.title} for {self.email}"
