// Package textmessage holds the text messages that organizations send: their
// kinds and states, their texts and languages, retries, limits and the keywords
// that stop them.
package textmessage
