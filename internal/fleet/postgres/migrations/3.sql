-- How far the decision log of each sidecar went when it told that last, in each of its runs.
CREATE TABLE bailiff.log_heads (
  chain text NOT NULL,
  replica text NOT NULL,
  epoch bigint NOT NULL,
  told timestamptz NOT NULL,
  lines bigint NOT NULL,
  hash text NOT NULL,
  PRIMARY KEY (chain, replica, epoch)
);
