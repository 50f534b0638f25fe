package library

// Losing are the calls after which a file's content is gone, with whether they follow a link to it.
var Losing = map[string]bool{
	"os.remove": false, "os.unlink": false, "os.rmdir": false, "os.removedirs": false, "os.truncate": true, "shutil.rmtree": false,
	"send2trash.send2trash": false,
	"pathlib.Path.unlink":   false, "pathlib.Path.rmdir": false, "pathlib.Path.rename": false, "pathlib.Path.replace": false,
	"pathlib.Path.write_text": true, "pathlib.Path.write_bytes": true,
}
