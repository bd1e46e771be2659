typedef int placeholder_prepare;
