package lastmile

import "time"

// Limits of uploads.
const (
	MaxUpload        = 10 << 20 // bytes, as sent
	MaxPhotos        = 20       // of a task
	MaxUnusedUploads = 200      // of a worker

	// UnusedUploadKept is how long an upload waits to be handed in: a phone that
	// sent it may be without signal for as long as its actions are good.
	UnusedUploadKept = MaxActionAge + 24*time.Hour
)

// Upload is a signature or a photo that a worker sent, to be handed in with a
// task.
type Upload struct {
	ID           UploadID
	Organization OrganizationID
	Worker       WorkerID
	Digest       string // of what was sent, to know the same image again
	Place        string // where its bytes are
	Type         string // media type of what is kept
	Size         int64
	Created      time.Time
	State        UploadState
	Task         TaskID // empty until it is handed in
}

// The places of bytes that every installation has.
const (
	UploadsOnDisk     = "disk"
	UploadsInDatabase = "database"
)

// UploadState tells whether the bytes of an upload are there.
type UploadState int

// The states of an upload. Its record is made before its bytes are stored and
// goes after they are removed, so that there are never bytes nobody knows of.
const (
	UploadArriving UploadState = iota
	UploadKept
	UploadLeaving
)

// Attach gives an upload to a task that its worker completes.
func (u *Upload) Attach(worker WorkerID, task TaskID) error {
	switch {
	case u.Worker != worker:
		return OutsideScope(string(u.ID))
	case u.State != UploadKept:
		return NotFound("upload", string(u.ID))
	case u.Task != "" && u.Task != task:
		return Invalid("upload %s was handed in with task %s already: upload another image", u.ID, u.Task)
	}
	u.Task = task
	return nil
}

// Uploads lists the uploads that a worker hands in, each once.
func (e Evidence) Uploads() []UploadID {
	var ids []UploadID
	if e.SignatureUploadID != "" {
		ids = append(ids, UploadID(e.SignatureUploadID))
	}
	for _, id := range e.PhotoUploadIDs {
		ids = append(ids, UploadID(id))
	}
	return unique(ids)
}
