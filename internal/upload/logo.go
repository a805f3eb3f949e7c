package upload

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"dray/internal/lastmile"
)

// maxLogo is the maximum size of a re-encoded logo or photo of a worker, in bytes. Every
// tracking page loads the logo.
const maxLogo = 256 << 10

// SetLogo replaces the logo of the caller's organization. Logos are stored in the database,
// where every node can read them, so that they are replaced in one transaction.
func (s *Uploads) SetLogo(ctx context.Context, who lastmile.Principal, sent []byte) (lastmile.UploadID, error) {
	u, data, err := s.prepare(ctx, who, "logo", sent)
	if err != nil {
		return "", err
	}
	u.Logo = true
	err = s.Store.Write(ctx, func(w Writer) error {
		if err := add(ctx, w, u, data); err != nil {
			return err
		}
		return s.replaceLogo(ctx, w, who.Organization, u.ID)
	})
	return u.ID, err
}

// CheckLogo returns the error with which SetLogo would reject an image.
func (s *Uploads) CheckLogo(ctx context.Context, who lastmile.Principal, sent []byte) error {
	_, _, err := s.prepare(ctx, who, "logo", sent)
	return err
}

// AcceptPhoto stores a photo of a worker. It is purged unless the caller saves it as in use.
func (s *Uploads) AcceptPhoto(ctx context.Context, who lastmile.Principal, worker lastmile.WorkerID, sent []byte) (lastmile.Upload, error) {
	u, data, err := s.prepare(ctx, who, "photo", sent)
	if err != nil {
		return u, err
	}
	u.Worker = worker
	return u, s.Store.Write(ctx, func(w Writer) error { return add(ctx, w, u, data) })
}

// prepare re-encodes a small image and returns the upload to save in the database.
func (s *Uploads) prepare(ctx context.Context, who lastmile.Principal, what string, sent []byte) (u lastmile.Upload, data []byte, err error) {
	if len(sent) > lastmile.MaxLogo {
		return u, nil, lastmile.TooLarge("the %s has more than %d bytes: scale it down", what, lastmile.MaxLogo)
	}
	clean, err := s.sanitize(ctx, who.Organization, sent)
	if err != nil {
		return u, nil, err
	}
	if len(clean.data) > maxLogo {
		return u, nil, lastmile.TooLarge("the %s has %d bytes after it was re-encoded; at most %d are allowed: scale it down, for example to a height of 256 pixels",
			what, len(clean.data), maxLogo)
	}
	sum := sha256.Sum256(sent)
	return lastmile.Upload{
		ID: lastmile.UploadID(s.NewID()), Organization: who.Organization, Digest: hex.EncodeToString(sum[:]), Storage: lastmile.UploadsInDatabase,
		Type: clean.mediaType, Size: int64(len(clean.data)), Created: s.Now(), State: lastmile.UploadStored,
	}, clean.data, nil
}

// add saves an upload and its bytes in the database.
func add(ctx context.Context, w Writer, u lastmile.Upload, data []byte) error {
	if err := w.SaveUpload(ctx, u); err != nil {
		return err
	}
	return w.SaveUploadBytes(ctx, u.Organization, u.ID, data)
}

// RemoveLogo removes the logo of the caller's organization, if it has one.
func (s *Uploads) RemoveLogo(ctx context.Context, who lastmile.Principal) error {
	return s.Store.Write(ctx, func(w Writer) error { return s.replaceLogo(ctx, w, who.Organization, "") })
}

// replaceLogo makes an upload the logo of an organization and deletes the previous logo. If
// logo is empty, the organization has none.
func (s *Uploads) replaceLogo(ctx context.Context, w Writer, id lastmile.OrganizationID, logo lastmile.UploadID) error {
	org, err := w.Organization(ctx, id)
	if err != nil {
		return err
	}
	if old := lastmile.UploadID(org.Image); old != "" {
		if err := w.DeleteUploadBytes(ctx, id, old); err != nil {
			return err
		}
		if err := w.DeleteUpload(ctx, id, old); err != nil {
			return err
		}
	} else if logo == "" {
		return nil
	}
	org.SetLogo(logo, s.Now())
	return w.SaveOrganization(ctx, org)
}

// Logo reads the logo of an organization.
func (s *Uploads) Logo(ctx context.Context, org lastmile.OrganizationID) (lastmile.Image, error) {
	var id lastmile.UploadID
	err := s.Store.Read(ctx, func(r Reader) error {
		of, err := r.Organization(ctx, org)
		id = lastmile.UploadID(of.Image)
		return err
	})
	if err != nil {
		return lastmile.Image{}, err
	}
	if id == "" {
		return lastmile.Image{}, lastmile.NotFound("logo", string(org))
	}
	return s.Open(ctx, lastmile.Principal{Organization: org}, id)
}
