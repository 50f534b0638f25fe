package redact

// JSON scrubs every text and every name of a value that encoding/json decoded.
// Lists are changed in place.
func JSON(value any, scrub func(string) string) any {
	switch v := value.(type) {
	case string:
		return scrub(v)
	case []any:
		for i := range v {
			v[i] = JSON(v[i], scrub)
		}
	case map[string]any:
		clean := make(map[string]any, len(v))
		for name, value := range v {
			clean[scrub(name)] = JSON(value, scrub)
		}
		return clean
	}
	return value
}
