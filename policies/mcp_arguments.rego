package bailiff

# METADATA
# title: What the arguments of an MCP server's tool name
# description: |
#   The table mcp_arguments says of an argument, by server and tool ("*" for all of a server), what it
#   is: a path that is read or written, which is judged as those of commands are; a URL, of which the
#   host is; or a text in SQL. A list is each of its values. Where the table has nothing, neither has this.
_reads contains path if {
	input.tool == "mcp"
	some path in _mcp_values.reads
}

_writes contains path if {
	input.tool == "mcp"
	some path in _mcp_values.writes
}

_hosts contains host if {
	input.tool == "mcp"
	some url in _mcp_values.url
	some parts in regex.find_all_string_submatch_n(_plain_url, url, 1)
	some host in _hosts_spelt(trim_suffix(lower(parts[1]), "."))
}

# A host without brackets, and as the table of metadata services spells its address.
_hosts_spelt(host) := {bare} | {known |
	some known, _ in data.bailiff.tables.hosts.metadata
	contains(known, ":")
	contains(bare, ":")
	net.cidr_contains(sprintf("%s/128", [known]), bare)
} if {
	bare := trim(host, "[]")
}

_mcp_values[kind] contains value if {
	some [kind, found] in _mcp_arguments
	value := _mcp_strings(found)[_]
}

_mcp_arguments contains [kind, found] if {
	input.tool == "mcp"
	some tool in {"*", input.args.name}
	some name, kind in data.bailiff.tables.mcp_arguments[input.args.server][tool]
	found := input.args.arguments[name]
}

_mcp_strings(found) := [found] if is_string(found)

_mcp_strings(found) := [value | some value in found; is_string(value)] if is_array(found)

# METADATA
# title: Arguments that are not what the table says
# description: |
#   A path with . or .. in it, one through a process of /proc, or a URL that programs read in several
#   ways, is denied: what it names is not told by its text. So is what is neither a text nor a list of texts.
deny contains {
	"rule": "mcp.odd_argument",
	"message": sprintf("It is no plain %s.", [{"reads": "path", "writes": "path", "url": "URL", "sql": "text"}[kind]]),
	"match": _told(sprintf("%v", [found])),
} if {
	input.tool == "mcp"
	some [kind, found] in _mcp_arguments
	_is_odd(kind, found)
}

_is_odd(_, found) if not _is_texts(found)

_is_odd(kind, found) if {
	kind in {"reads", "writes"}
	some path in _mcp_strings(found)
	regex.match(`(^|/)\.\.(/|$)|//|.\/\.(/|$)|[\x00-\x1f\\]|^[A-Za-z][A-Za-z0-9+.-]+:|^/proc/.*/(root|cwd|fd)(/|$)`, path)
}

_is_odd("url", found) if {
	some url in _mcp_strings(found)
	not regex.match(_plain_url, url)
}

# An address of IPv4 within one of IPv6.
_is_odd("url", found) if {
	some url in _mcp_strings(found)
	regex.match(`^(?i:https?://\[[0:]*:ffff:)`, url)
}

# A number that is no address in four parts is one all the same, to most programs.
_is_odd("url", found) if {
	some url in _mcp_strings(found)
	regex.match(`^(?i:https?)://([^/?#:]*\.)?(?i:0x[0-9a-f]*|[0-9]+)\.?([:/?#]|$)`, url)
	not regex.match(`^(?i:https?)://(?:(?:0|[1-9][0-9]{0,2})\.){3}(?:0|[1-9][0-9]{0,2})\.?([:/?#]|$)`, url)
}

_is_texts(found) if is_string(found)

_is_texts(found) if {
	is_array(found)
	every value in found {
		is_string(value)
	}
}

_plain_url := `^(?i:https?)://([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?(?:[/?#][^\\\s\x00-\x1f]*)?$`

# METADATA
# title: SQL that may change data
# description: |
#   One statement that begins as reading does, and holds no word that changes anything, is let
#   through. Comments are not taken out, since servers differ in what they are.
require_approval contains {
	"rule": "mcp.changes_data",
	"message": "Its SQL may change data, or do more than read them.",
	"match": _told(text),
} if {
	input.tool == "mcp"
	some text in _mcp_values.sql
	not _only_reads(text)
}

_only_reads(text) if {
	regex.match(`(?i)^\s*(select|values|show|describe|desc|explain|with)\b[^;]*;?\s*$`, text)
	not regex.match(_sql_of_changes, text)
}

_sql_of_changes := concat("", [
	`(?i)\b(insert|update|delete|drop|alter|create|truncate|grant|revoke|merge|replace|upsert|into|call|execute|exec|do|copy|attach|`,
	`detach|vacuum|reindex|analyze|lock|set|reset|load|import|handler|rename|begin|commit|rollback|outfile|dumpfile|load_file|`,
	`load_extension|writefile|readfile|edit|nextval|setval|set_config|query_to_xml|xp_\w*|sp_\w*|pg_\w*|lo_\w*|`,
	`dblink\w*|sleep|benchmark|lowrite|ts_stat|ts_rewrite|cursor_to_xml\w*|openrowset|openquery|opendatasource|utl_\w*|dbms_\w*|`,
	`sys_exec|sys_eval)\b`,
	`|/\*!|\bu&["']`,
])
