package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/bailiff-dev/bailiff/api"
)

// Reporter sums up what the decision log tells of the last days. Its error wraps [api.ErrBusy] while another report is made.
type Reporter interface {
	Report(ctx context.Context, days int) (api.Report, error)
}

// reportDays are of how many days a report is where none are named, reportAtMost of how many at most.
const (
	reportDays   = 7
	reportAtMost = 366
)

func (o *operator) report(r *http.Request) (any, *api.Problem) {
	days := reportDays
	if p := readQuery(r, fields{"days": number(&days, 1, reportAtMost)}); p != nil {
		return nil, p
	}
	made, err := o.config.Reports.Report(r.Context(), days)
	if err != nil && !errors.Is(err, api.ErrBusy) {
		return nil, problem(http.StatusInternalServerError, "internal", fmt.Sprintf("The decision log cannot be summed up: %v.", err))
	}
	return result(made, "", err)
}
