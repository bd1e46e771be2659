/* The tables as Markdown pages: every command with its flags; every method with its options. */
#ifndef HUDDLE_APP_REFERENCE_H
#define HUDDLE_APP_REFERENCE_H

void print_commands_markdown(void);
void print_options_markdown(void);

#endif
