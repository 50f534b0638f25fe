package apptainer

// Closed are the options that do not depend on the spec.
var Closed = closed
