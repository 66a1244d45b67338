import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "bookshop.settings")
application = get_asgi_application()

# After Django's own, which sets Django up.
from catchment.contrib.django.dashboard import with_dashboard  # noqa: E402

# Staff see the dashboard below /jobs/, superusers can retry and cancel there.
application = with_dashboard(application, prefix="/jobs")
