-- What sidecars share. Migrations only add, so that sidecars of the version before go on.
-- changed is the transaction that wrote a row last: who follows the tables asks for what
-- changed since. A row that is gone stays for an hour, so that followers see it go.
CREATE TABLE bailiff.replicas (
  id text PRIMARY KEY,
  epoch bigint NOT NULL,
  seen timestamptz NOT NULL,
  freezes bigint NOT NULL
);
CREATE TABLE bailiff.state (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  freezes bigint NOT NULL DEFAULT 0
);
INSERT INTO bailiff.state DEFAULT VALUES;
CREATE SEQUENCE bailiff.numbers;
CREATE TABLE bailiff.approvals (
  id text PRIMARY KEY,
  seq bigint NOT NULL UNIQUE,
  pending boolean NOT NULL,
  digest text NOT NULL,
  caller bytea NOT NULL,
  session bytea NOT NULL,
  person bytea NOT NULL,
  expires timestamptz NOT NULL,
  resolved timestamptz,
  version bigint NOT NULL,
  doc text NOT NULL,
  gone timestamptz,
  changed xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE UNIQUE INDEX approvals_pending ON bailiff.approvals (digest) WHERE pending;
CREATE INDEX approvals_caller ON bailiff.approvals (caller) WHERE pending;
CREATE INDEX approvals_session ON bailiff.approvals (session) WHERE pending;
CREATE INDEX approvals_person ON bailiff.approvals (person) WHERE pending;
CREATE INDEX approvals_expires ON bailiff.approvals (expires) WHERE pending;
CREATE INDEX approvals_resolved ON bailiff.approvals (resolved) WHERE gone IS NULL;
CREATE INDEX approvals_changed ON bailiff.approvals (changed);
CREATE TABLE bailiff.claims (
  seq bigint PRIMARY KEY,
  claim text NOT NULL
);
CREATE TABLE bailiff.grants (
  id text PRIMARY KEY,
  number bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  approval text NOT NULL,
  digest text NOT NULL,
  owner bytea NOT NULL,
  expires timestamptz,
  version bigint NOT NULL,
  doc text NOT NULL,
  gone timestamptz,
  changed xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX grants_digest ON bailiff.grants (digest) WHERE gone IS NULL AND digest <> '';
CREATE INDEX grants_owner ON bailiff.grants (owner) WHERE gone IS NULL AND digest = '';
CREATE INDEX grants_approval ON bailiff.grants (approval) WHERE gone IS NULL;
CREATE INDEX grants_expires ON bailiff.grants (expires) WHERE gone IS NULL;
CREATE INDEX grants_changed ON bailiff.grants (changed);
CREATE TABLE bailiff.freezes (
  key bytea PRIMARY KEY,
  doc text NOT NULL,
  gone timestamptz,
  changed xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE TABLE bailiff.outbox (
  number bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  replica text NOT NULL,
  doc text NOT NULL
);
CREATE INDEX outbox_replica ON bailiff.outbox (replica);
CREATE TABLE bailiff.moved (
  book bytea PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT now()
);
