package bailiff_test

process(action) := object.union(object.remove(request("cli", []), {"command"}), {
	"tool": "process",
	"args": {"action": action, "process_id": "p", "data": "…"},
})

test_looking_at_a_process_has_no_text if {
	not hidden with input as process("poll")
	hidden with input as process("write")
	hidden with input as process("submit")
}

test_data_for_a_process_is_judged_like_a_command if {
	typed := object.union(process("submit"), {"command": text([call("sudo", [], ["ls"])])})
	answer := usually(on_host(typed))
	rules(answer) == {"command.gains_privilege"}
}

test_shell_text_of_a_program_is_judged_like_a_command if {
	shelled := program("cli", {"command": text([call("sudo", [], ["ls"])])})
	answer := usually(on_host(shelled))
	rules(answer) == {"command.gains_privilege"}
}
