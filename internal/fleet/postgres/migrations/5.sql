-- Which server holds all this: its system and timeline, as the sidecars accepted it last. A standby that was
-- promoted, and a server that was restored, is another one.
ALTER TABLE bailiff.state ADD COLUMN server text NOT NULL DEFAULT '';
