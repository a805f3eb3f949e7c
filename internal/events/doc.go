// Package events stores events and wakes the parts of the program that follow
// changes. All events are stored by it, and all changes are published by it.
//
// A Log appends events inside the transaction that causes them, together with
// everything that follows from them: the notifications of webhooks and the text
// messages to recipients. After the commit it wakes the loops that work on
// those rows.
//
// A Hub wakes subscribers of topics after a commit: at once in this process,
// through a Relay (LISTEN and NOTIFY on PostgreSQL) in the other processes of
// the installation, and by polling while there is no relay. A wake-up carries no
// data. Subscribers read what they need, so that a lost or repeated wake-up
// never shows them anything wrong.
package events
