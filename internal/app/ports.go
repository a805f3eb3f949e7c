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
	"dray/internal/store/sqlstore"
	"dray/internal/taskflow"
	"dray/internal/tracking"
	"dray/internal/upload"
	"dray/internal/webhook"
)

// sqlstore.For and sqlstore.With require that a transaction implements the ports of
// every use case, which cannot be expressed as a type constraint.
var (
	_ access.Writer            = (*sqlstore.Tx)(nil)
	_ access.KeyWriter         = (*sqlstore.Tx)(nil)
	_ access.RoleReader        = roleTx{}
	_ account.Writer           = accountTx{}
	_ audit.Writer             = auditTx{}
	_ audit.HistoryReader      = auditTx{}
	_ addressbook.Writer       = (*sqlstore.Tx)(nil)
	_ blob.Writer              = (*sqlstore.Tx)(nil)
	_ board.Reader             = boardTx{}
	_ board.HistoryReader      = boardTx{}
	_ board.ListWriter         = boardTx{}
	_ board.LiveReader         = boardTx{}
	_ dispatch.Writer          = (*sqlstore.Tx)(nil)
	_ dispatch.ReplanWriter    = (*sqlstore.Tx)(nil)
	_ fleet.Writer             = (*sqlstore.Tx)(nil)
	_ messaging.Writer         = (*sqlstore.Tx)(nil)
	_ ordering.ClientWriter    = orderTx{}
	_ ordering.FollowWriter    = orderTx{}
	_ ordering.OrderWriter     = orderTx{}
	_ ordering.QuoteWriter     = orderTx{}
	_ ordering.ServiceWriter   = orderTx{}
	_ report.Reader            = reportTx{}
	_ report.Writer            = reportTx{}
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
