package postgres

import (
	"context"
	"fmt"
	"strconv"

	"dray/internal/store/engine"
)

// pgUndefinedFunction is the code of a function that does not exist.
const pgUndefinedFunction = "42883"

// DataVersion implements engine.Engine. The version is the set of visible transactions. On
// a server without that function, each call returns a new version.
func (e *Engine) DataVersion(ctx context.Context) (version string, err error) {
	err = e.Direct(ctx, func(c engine.Conn) error {
		return c.Row(ctx, `SELECT pg_current_snapshot()::text`).Scan(&version)
	})
	if pgCode(err) == pgUndefinedFunction {
		return strconv.FormatInt(e.unversioned.Add(1), 10), nil
	}
	if err != nil {
		return "", fmt.Errorf("read the version of the database: %w", err)
	}
	return version, nil
}
