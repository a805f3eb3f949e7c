package taskflow

import (
	"context"
	"strings"
	"time"

	"dray/internal/lastmile"
)

// Settings returns the settings of an organization for tracking pages.
func (ps *Pages) Settings(ctx context.Context, org lastmile.OrganizationID) (s lastmile.PageSettings, err error) {
	err = ps.Store.Read(ctx, func(r PageReader) (err error) {
		if _, err = r.Organization(ctx, org); err != nil {
			return err
		}
		s, err = r.PageSettings(ctx, org)
		return err
	})
	return s, err
}

// Configure changes the settings of an organization for tracking pages.
func (ps *Pages) Configure(ctx context.Context, org lastmile.OrganizationID, c lastmile.PageSettingsChange) (s lastmile.PageSettings, err error) {
	err = ps.Store.Write(ctx, func(w PageWriter) error {
		of, err := w.Organization(ctx, org)
		if err != nil {
			return err
		}
		if s, err = w.PageSettings(ctx, org); err != nil {
			return err
		}
		if c.Phone != nil {
			s.Phone = ""
			if *c.Phone != "" {
				if s.Phone, err = ps.ParsePhone(*c.Phone, of.Country); err != nil {
					return err
				}
			}
		}
		if c.Color != nil {
			s.Color = strings.ToLower(*c.Color)
		}
		lastmile.Set(&s.NewTimes, c.NewTimes)
		if err := s.Check(); err != nil {
			return err
		}
		return w.SavePageSettings(ctx, org, s)
	})
	return s, err
}

// Merchant returns the organization whose name and logo the tracking page of a task
// shows.
func (ps *Pages) Merchant(ctx context.Context, token string) (lastmile.OrganizationID, error) {
	p := TaskFollower{pages: ps, token: token}
	if err := p.read(ctx); err != nil {
		return "", err
	}
	_, err := p.Show()
	return p.merchant.ID, err
}

// RequestTime stores that the recipient of a failed task requests another time. begin
// must be one of the times that the page offers.
func (ps *Pages) RequestTime(ctx context.Context, token string, begin time.Time) error {
	request := func(r PageReader) (p TaskFollower, changes []lastmile.Event, err error) {
		p = TaskFollower{pages: ps, token: token}
		if p.task, err = taskByLink(ctx, r, token); err != nil {
			return p, nil, err
		}
		if err = p.readSettings(ctx, r); err != nil {
			return p, nil, err
		}
		page, err := p.Show()
		if err != nil {
			return p, nil, err
		}
		changes, err = page.Request(&p.task, begin, ps.Now())
		return p, changes, err
	}
	var task lastmile.TaskID
	err := ps.Store.Read(ctx, func(r PageReader) error {
		p, changes, err := request(r)
		if len(changes) > 0 {
			task = p.task.ID
		}
		return err
	})
	if err != nil || task == "" {
		return err
	}
	if rejected := ps.Feedback.Take("time of "+string(task), 1); rejected != nil {
		return rejected.Because("another time was requested %d times: one more request is possible every %.0f minutes", feedbackBurst, feedbackPause.Minutes())
	}
	return ps.Store.Write(ctx, func(w PageWriter) error {
		p, changes, err := request(w)
		if err != nil || len(changes) == 0 {
			return err
		}
		if err := w.SaveTask(ctx, p.task); err != nil {
			return err
		}
		return ps.Events.Append(ctx, w, changes...)
	})
}
