from django.urls import path

from orders import views

urlpatterns = [
    path("orders/", views.place_order),
    path("orders/<int:pk>/", views.show_order),
    path("reports/<int:year>/", views.start_report),
    path("reports/results/<int:task_id>/", views.show_report),
]
