package state

import (
	"github.com/bailiff-dev/bailiff/api"
)

// entry, grant and freeze are what the store holds of package api's types, with what the
// book does with them. A test pins what is on disk, so that no field comes there only
// because the API gained it; an entry's files and input are in the claim's text.
type (
	Entry  api.Entry
	Grant  api.Grant
	Freeze api.Freeze
)

// shown is an entry as lists and changes show it.
func (e *Entry) shown() api.Entry {
	shown := api.Entry(*e)
	shown.Votes = append([]api.Vote{}, e.Votes...)
	return shown
}
