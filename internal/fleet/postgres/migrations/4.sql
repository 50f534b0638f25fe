-- A home may be given away by the sidecar that has it. given names that sidecar and its epoch: of a
-- later run of it, or of another home, it says nothing.
ALTER TABLE bailiff.homes ADD COLUMN given text NOT NULL DEFAULT '';
