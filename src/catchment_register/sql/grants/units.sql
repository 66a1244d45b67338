-- Functions that the view of units calls, for readers.
grant execute on function register.stats_summary(register.moment[], jsonb), register.name_words(text),
      register.name_query(text)
   to register_read;
