-- Run once by a superuser: psql -f setup.sql. The first user makes the tables, the second is the sidecars'.
-- Then give each its password, as in: \password bailiff
CREATE ROLE bailiff_owner LOGIN;
CREATE ROLE bailiff LOGIN;
CREATE DATABASE bailiff OWNER bailiff_owner;
