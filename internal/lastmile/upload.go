package lastmile

import "time"

// Limits of uploads.
const (
	MaxUpload        = 10 << 20 // bytes, as sent
	MaxLogo          = 1 << 20  // bytes of the logo of an organization, as sent
	MaxPhotos        = 20       // per task
	MaxUnusedUploads = 200      // per worker

	// UnusedUploadRetention is how long an upload is kept that is not attached to a task. It
	// exceeds MaxActionAge, because a phone may be without signal for that time.
	UnusedUploadRetention = MaxActionAge + 24*time.Hour
)

// Upload is a signature or photo that a worker uploaded, to be attached to a task; the logo of
// an organization; or the photo of a worker.
type Upload struct {
	ID           UploadID
	Organization OrganizationID
	Worker       WorkerID // empty for a logo
	Digest       string   // digest of the original bytes, to recognize repeated uploads
	Storage      string   // name of the storage that holds the bytes
	Type         string   // media type of the stored image
	Size         int64
	Created      time.Time
	State        UploadState
	Task         TaskID // empty until attached
	Logo         bool   // in use as a logo or as the photo of a worker, without a task
}

// The storages that every installation has.
const (
	UploadsOnDisk     = "disk"
	UploadsInDatabase = "database"
)

// UploadState is the state of an upload.
type UploadState int

// The states of an upload. Its record is created before the bytes are stored and deleted
// after they are removed, so that no bytes are ever orphaned.
const (
	UploadPending UploadState = iota
	UploadStored
	UploadDeleting
)

// Attach attaches an upload to a task that its worker completes.
func (u *Upload) Attach(worker WorkerID, task TaskID) error {
	switch {
	case u.Worker != worker:
		return OutsideScope(string(u.ID))
	case u.State != UploadStored:
		return NotFound("upload", string(u.ID))
	case u.Task != "" && u.Task != task:
		return Invalid("upload %s was handed in with task %s already: upload another image", u.ID, u.Task)
	}
	u.Task = task
	return nil
}

// Uploads lists the uploads of the evidence without duplicates.
func (e Evidence) Uploads() []UploadID {
	var ids []UploadID
	if e.SignatureUploadID != "" {
		ids = append(ids, UploadID(e.SignatureUploadID))
	}
	for _, id := range e.PhotoUploadIDs {
		ids = append(ids, UploadID(id))
	}
	return Unique(ids)
}

// Image is an upload with its bytes.
type Image struct {
	Upload
	Data []byte
}
