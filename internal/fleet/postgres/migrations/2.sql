-- Where sidecars reach each other, who serves which session, which request ids are taken, and
-- what one sidecar at a time does. A key is a digest of names.
ALTER TABLE bailiff.replicas
  ADD COLUMN address text NOT NULL DEFAULT '',
  ADD COLUMN revision text NOT NULL DEFAULT '';
CREATE TABLE bailiff.homes (
  key bytea PRIMARY KEY,
  replica text NOT NULL,
  used timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX homes_replica ON bailiff.homes (replica);
CREATE INDEX homes_used ON bailiff.homes (used);
CREATE TABLE bailiff.requests (
  key bytea PRIMARY KEY,
  digest bytea NOT NULL,
  replica text NOT NULL,
  epoch bigint NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  ended timestamptz
);
CREATE INDEX requests_at ON bailiff.requests (at);
CREATE TABLE bailiff.duties (
  name text PRIMARY KEY,
  replica text NOT NULL,
  epoch bigint NOT NULL,
  until timestamptz NOT NULL
);
