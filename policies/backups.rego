package bailiff

# METADATA
# title: Copies that are kept elsewhere
# description: |
#   A program that keeps copies sends what it copies where its store is another host's.
_examined.backs_up contains _found("sends_files", _spelt(call)) if {
	some call in _calls_of.backs_up
	some word in call.operands
	word in {"backup", "create", "copy", "sync", "upload", "full", "incr", "push", "archive", "sync-to"}
	_keeps_elsewhere(call)
	not _tries(call)
}

_keeps_elsewhere(call) if {
	some word in call.argv
	regex.match(
		`^(--?[\w-]+=)?((rest|sftp|s3|b2|azure|gs|swift|rclone|ssh|ftps?|webdavs?|scp|rsync|https?|opendal|minio):|[\w.-]+@[\w.-]+[:/])`,
		word,
	)
}
