-- Functions that the view of units calls, for readers.
grant execute on function register.stats_summary(register.moment[], jsonb), register.name_words(text),
      register.name_query(text), register.is_shown(text)
   to register_read;
