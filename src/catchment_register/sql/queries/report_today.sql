-- The day that everything derived refers to.
select register.today() as today;
