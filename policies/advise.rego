package bailiff

# METADATA
# title: Notes to the model
# description: |
#   A request that runs a program of the table is answered with the table's sentence beside what
#   it printed. A note changes nothing else of a decision.
advise contains {
	"rule": "advise.program",
	"message": message,
} if {
	some message in object.filter(data.bailiff.tables.advise, _command.programs)
}

default _advice := {}

_advice := {"advise": [note | some note in advise]} if count(advise) > 0

_notes := object.union_n([_advice, _reading, _observation, _budgeted])
