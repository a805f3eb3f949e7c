package app

import (
	"dray/internal/access"
	"dray/internal/account"
	"dray/internal/addressbook"
	"dray/internal/audit"
	"dray/internal/blob"
	"dray/internal/board"
	"dray/internal/dispatch"
	"dray/internal/fleet"
	"dray/internal/messaging"
	"dray/internal/ordering"
	"dray/internal/report"
	"dray/internal/settings"
	"dray/internal/store/sqlaccount"
	"dray/internal/store/sqlaudit"
	"dray/internal/store/sqlboard"
	"dray/internal/store/sqlorder"
	"dray/internal/store/sqlreport"
	"dray/internal/store/sqlrole"
	"dray/internal/store/sqlstore"
	"dray/internal/taskflow"
	"dray/internal/tracking"
	"dray/internal/upload"
	"dray/internal/webhook"
)

// The statements of some records are in separate packages.
type (
	accountPart = sqlaccount.Part
	auditPart   = sqlaudit.Part
	boardPart   = sqlboard.Part
	orderPart   = sqlorder.Part
	reportPart  = sqlreport.Part
	rolePart    = sqlrole.Part
)

// parts is a transaction with the statements of all records.
type parts struct {
	*sqlstore.Tx
	accountPart
	auditPart
	boardPart
	orderPart
	reportPart
	rolePart
}

func withParts(t *sqlstore.Tx) parts {
	c := t.Conn()
	return parts{t, sqlaccount.New(c), sqlaudit.New(c), sqlboard.New(c), sqlorder.New(c), sqlreport.New(c), sqlrole.New(c)}
}

// sqlstore.For and sqlstore.With require that a transaction implements the ports of
// every use case, which cannot be expressed as a type constraint.
var (
	_ access.Writer            = (*sqlstore.Tx)(nil)
	_ access.KeyWriter         = (*sqlstore.Tx)(nil)
	_ access.RoleReader        = parts{}
	_ account.Writer           = parts{}
	_ audit.Writer             = parts{}
	_ audit.HistoryReader      = parts{}
	_ addressbook.Writer       = (*sqlstore.Tx)(nil)
	_ blob.Writer              = (*sqlstore.Tx)(nil)
	_ board.Reader             = parts{}
	_ board.HistoryReader      = parts{}
	_ board.ListWriter         = parts{}
	_ board.LiveReader         = parts{}
	_ dispatch.Writer          = (*sqlstore.Tx)(nil)
	_ dispatch.ReplanWriter    = (*sqlstore.Tx)(nil)
	_ fleet.Writer             = (*sqlstore.Tx)(nil)
	_ fleet.ClearingWriter     = (*sqlstore.Tx)(nil)
	_ messaging.Writer         = (*sqlstore.Tx)(nil)
	_ ordering.ClientWriter    = parts{}
	_ ordering.FollowWriter    = parts{}
	_ ordering.OrderWriter     = parts{}
	_ ordering.QuoteWriter     = parts{}
	_ ordering.ServiceWriter   = parts{}
	_ report.Reader            = parts{}
	_ report.Writer            = parts{}
	_ settings.Writer          = (*sqlstore.Tx)(nil)
	_ taskflow.BatchWriter     = (*sqlstore.Tx)(nil)
	_ taskflow.ContainerWriter = (*sqlstore.Tx)(nil)
	_ taskflow.FieldWriter     = (*sqlstore.Tx)(nil)
	_ taskflow.PageWriter      = (*sqlstore.Tx)(nil)
	_ taskflow.PlanWriter      = (*sqlstore.Tx)(nil)
	_ taskflow.TaskWriter      = (*sqlstore.Tx)(nil)
	_ taskflow.WorkWriter      = (*sqlstore.Tx)(nil)
	_ tracking.Writer          = (*sqlstore.Tx)(nil)
	_ upload.Writer            = (*sqlstore.Tx)(nil)
	_ webhook.Writer           = (*sqlstore.Tx)(nil)
)
