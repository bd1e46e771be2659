typedef int placeholder_shrink;
