from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Order",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("email", models.EmailField(max_length=254)),
                ("title", models.CharField(max_length=200)),
                ("cents", models.PositiveIntegerField()),
                ("placed_at", models.DateTimeField(auto_now_add=True)),
                ("receipt_sent_at", models.DateTimeField(null=True)),
            ],
        ),
    ]
