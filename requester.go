package bailiff

// Requester is the person who asks, as far as it is known who that is. The zero value is a person who is not known.
type Requester struct {
	// Person is the name under people.
	Person string
	// Groups are the person's.
	Groups []string
	// Own lists those of the requested variables that a source of the person's own holds.
	Own []string
}
