package bailiff

# METADATA
# title: What an earlier request of the session brought
# description: |
#   A file that the session fetched from the network, decoded or compiled of such, and that this request runs. It is known by its
#   content, so that a copy or another name changes nothing; where that could not be looked at, by its path. Of what other sessions
#   of the same user brought today the content counts alone. A grant is for the content; without one it is for once.
_found_in_text contains _found("brought", _content_of(run)) if {
	some run in input.session_history.runs
}

default _content_of(_) := ""

_content_of(run) := sprintf("%s (sha256 %s)", [run.path, run.sha256])
