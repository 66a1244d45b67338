-- Units at a place of the facets on a day, and what can be chosen next.
select register.unit_facet_drilldown(%(unit_type)s, %(at)s, %(region)s, %(activity)s, %(sector)s, %(legal_form)s,
                                     %(country)s, %(status)s) as drilldown;
