typedef int placeholder_io;
