typedef int placeholder_methods;
