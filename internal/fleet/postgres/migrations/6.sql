-- When sidecars accepted that server in the place of another; null where it is the first one.
ALTER TABLE bailiff.state ADD COLUMN accepted timestamptz;
