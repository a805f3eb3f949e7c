package app

import (
	"context"
	"errors"
	"fmt"
	"os"

	"dray/internal/geo"
	"dray/internal/lastmile"
	"dray/internal/store/sqlstore"
	"dray/internal/textmessage"
	"dray/internal/travel"
)

// importBatch is the number of postal codes saved in one transaction.
const importBatch = 2_000

// ImportPostalCodes replaces the postal codes of the countries in a file. It reads the whole
// file once before it changes anything, so that a malformed file changes nothing. progress is
// called with the number of areas imported so far.
func (a *App) ImportPostalCodes(ctx context.Context, name string, progress func(step string, done int64)) (count int64, countries []string, err error) {
	err = readPostalFile(name, func(p lastmile.PostalArea) error {
		if len(countries) == 0 || countries[len(countries)-1] != p.Country {
			countries = append(countries, p.Country)
		}
		return nil
	})
	if err == nil && len(countries) == 0 {
		err = fmt.Errorf("%s contains no postal codes", name)
	}
	if err != nil {
		return 0, nil, err
	}
	err = a.Store.Write(ctx, func(w *sqlstore.Tx) error {
		for _, country := range countries {
			if err := w.DeletePostalAreas(ctx, country); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, nil, err
	}
	var batch []lastmile.PostalArea
	save := func() error {
		first := count
		count += int64(len(batch))
		err := a.Store.Write(ctx, func(w *sqlstore.Tx) error { return w.SavePostalAreas(ctx, first, batch) })
		batch = batch[:0]
		progress("importing place", count)
		return err
	}
	err = readPostalFile(name, func(p lastmile.PostalArea) error {
		if batch = append(batch, p); len(batch) < importBatch {
			return nil
		}
		return save()
	})
	return count, countries, errors.Join(err, save())
}

func readPostalFile(name string, each func(lastmile.PostalArea) error) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	codes, err := geo.OpenPostalFile(file, info.Size())
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer codes.Close()
	if err := geo.ReadPostalCodes(codes, each); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// ChangeSettings applies change to the settings of an organization and saves them if change
// returns true. It returns the settings and what was learned from the organization's trips.
func (a *App) ChangeSettings(ctx context.Context, org lastmile.OrganizationID, change func(*lastmile.Settings) (bool, error)) (settings lastmile.Settings, learned travel.Experience, err error) {
	var trips []lastmile.Trip
	err = a.Store.Write(ctx, func(w *sqlstore.Tx) (err error) {
		if _, err = w.Organization(ctx, org); err != nil {
			return err
		}
		if settings, err = w.Settings(ctx, org); err != nil {
			return err
		}
		if trips, err = w.Trips(ctx, org, travel.LearnedTrips); err != nil {
			return err
		}
		changed, err := change(&settings)
		if err != nil || !changed {
			return err
		}
		return w.SaveSettings(ctx, org, settings)
	})
	return settings, travel.Learn(trips, a.Config.Speed), err
}

// MessageFilter selects text messages.
type MessageFilter = textmessage.Filter

// Outbox lists text messages, oldest first.
func (a *App) Outbox(ctx context.Context, filter MessageFilter) (messages []textmessage.Message, err error) {
	err = a.Store.Read(ctx, func(r *sqlstore.Tx) (err error) {
		if filter.Organization != "" {
			if _, err := r.Organization(ctx, filter.Organization); err != nil {
				return err
			}
		}
		messages, err = r.Messages(ctx, filter)
		return err
	})
	return messages, err
}
