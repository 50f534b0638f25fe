-- How far a sidecar saw the store go. It keeps the number itself, too: a store with a lower one was restored.
ALTER TABLE bailiff.replicas ADD COLUMN mark bigint NOT NULL DEFAULT 0;
