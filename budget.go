package bailiff

// What a budget counts.
const (
	CountRequests   = "requests"
	CountRunSeconds = "run_seconds"
	CountQuestions  = "questions"
	CountUploadMB   = "upload_mb"
)

// Budget is a row of the table budgets that holds for a request, as the policies read it.
type Budget struct {
	Name string `json:"name"`
	// Per says whose the counter is: each user's, chat's or platform's, or one of all for whom the row holds.
	Per string `json:"per"`
	// Count is what is counted, Window how long until it begins anew: a minute, an hour or a day, as the clock has them in UTC.
	Count  string `json:"count"`
	Window string `json:"window"`
	Most   int    `json:"most"`
	// Left is what was left before the request.
	Left int `json:"left"`
}

// Spent is what was used of budgets before a request. A nil one is nothing.
type Spent struct {
	// Used are the numbers by what budgets are per, and by their names.
	Used map[string]map[string]int
	// Unknown are those of user, chat, platform and all whose counters are damaged.
	Unknown []string
}
