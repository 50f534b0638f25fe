-- How far a sidecar saw the store go. It keeps the number itself, too: a store with a lower one was restored.
ALTER TABLE bailiff.replicas ADD COLUMN mark bigint NOT NULL DEFAULT 0;
-- The sandboxes that it said last to have, so that a person who freezes hears which may go on where it does not answer.
ALTER TABLE bailiff.replicas ADD COLUMN sandboxes text NOT NULL DEFAULT '';
