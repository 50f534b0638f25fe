package httpapi

import (
	"errors"
	"net/url"
)

// mostPages bounds a list: no account has as much.
const mostPages = 100

// Pages asks for one page of a list after the other until none is next, or one has
// nothing on it. From the second on, what was said to be next is the query's cursor.
func Pages(query url.Values, ask func() (listed int, next string, err error)) error {
	for range mostPages {
		listed, next, err := ask()
		if err != nil || listed == 0 || next == "" {
			return err
		}
		query.Set("cursor", next)
	}
	return errors.New("the list has no end")
}
