/* The temporary files of this process, in a folder of their own that nobody else can read. */
#ifndef HUDDLE_APP_SCRATCH_H
#define HUDDLE_APP_SCRATCH_H

/* Where temporary folders are made: $TMPDIR, or /tmp. */
const char *scratch_base(void);

/* The folder, made when it is first asked for; NULL after a message. Folders that killed processes
 * of this user have left are removed then. */
const char *scratch_folder(void);

/* Removes the folder and the files in it. Also called at exit. */
void scratch_remove(void);

#endif
